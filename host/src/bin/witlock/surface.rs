//! What a component imports and exports, read without compiling it: a
//! component that asks for what we don't have is to be told so by name, also
//! where the compiler would refuse it first.

use wasmtime::wasmparser::{Chunk, ComponentTypeRef, Encoding, Error, Parser, Payload};

/// The names at a component's surface.
#[derive(Debug, Default)]
pub struct Surface {
    pub imports: Vec<String>,
    pub exports: Vec<String>,
}

/// Why there is no surface to read.
#[derive(Debug)]
pub enum Flaw {
    /// A core module.
    Module,
    /// The file ends before what it began.
    CutShort,
    /// Not what a component looks like.
    Malformed(Error),
}

impl From<Error> for Flaw {
    fn from(error: Error) -> Flaw {
        Flaw::Malformed(error)
    }
}

/// Reads the surface of a component, which is all that `bytes` holds.
pub fn read(bytes: &[u8]) -> Result<Surface, Flaw> {
    let mut surface = Surface::default();
    let mut parser = Parser::new(0);
    let mut rest = bytes;
    loop {
        match parser.parse(rest, false)? {
            // The parser would go on to a next section, if there were one.
            Chunk::NeedMoreData(_) if rest.is_empty() && !bytes.is_empty() => return Ok(surface),
            Chunk::NeedMoreData(_) => return Err(Flaw::CutShort),
            Chunk::Parsed { consumed, payload } => {
                let inner = surface.take(payload)?;
                rest = rest.get(consumed + inner..).ok_or(Flaw::CutShort)?;
            }
        }
    }
}

impl Surface {
    /// Takes the names from a payload, and says how many bytes of a module or
    /// component inside it are to be passed over.
    fn take(&mut self, payload: Payload<'_>) -> Result<usize, Flaw> {
        match payload {
            Payload::Version {
                encoding: Encoding::Module,
                ..
            } => return Err(Flaw::Module),
            Payload::ModuleSection {
                unchecked_range: range,
                ..
            }
            | Payload::ComponentSection {
                unchecked_range: range,
                ..
            } => {
                return Ok(range.len());
            }
            Payload::ComponentImportSection(imports) => {
                for import in imports {
                    let import = import?;
                    // A type is not asked of the host: it only names another's.
                    if !matches!(import.ty, ComponentTypeRef::Type(_)) {
                        self.imports.push(import.name.name.to_owned());
                    }
                }
            }
            Payload::ComponentExportSection(exports) => {
                for export in exports {
                    self.exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
        Ok(0)
    }
}
