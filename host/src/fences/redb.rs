//! Fences in a `redb` file: one number, the largest ever reserved.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

use redb::{Builder, Database, DatabaseError, ReadableDatabase, TableDefinition, TableError};

use super::{FENCE_END, FenceError, FenceStorage, next_range};

/// The table of one row.
const FENCES: TableDefinition<&str, u64> = TableDefinition::new("fences");

/// The row: the largest fence ever reserved.
const HIGH_WATER: &str = "high-water";

/// A number needs no cache; redb's default would be a gibibyte.
const CACHE_BYTES: usize = 1 << 20;

type Open = Box<dyn Fn() -> Result<Database, DatabaseError> + Send>;

/// Keeps fences in a file, durable by its commits.
///
/// After a failure the file is opened anew for the next reservation, so that
/// a full disk, once there is room again, needs no restart.
pub struct RedbFences {
    path: PathBuf,
    open: Open,
    database: Option<Database>,
}

impl RedbFences {
    /// Fences in the file at `path`, made if it is not there.
    ///
    /// # Errors
    ///
    /// If the file cannot be made, opened or read, or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FenceError> {
        Self::open_file_with(path.as_ref(), |path| Self::builder().create(path))
    }

    /// Fences in a file, opened, and made first if need be, by `open`; for tests
    /// that let it die.
    #[doc(hidden)]
    pub fn open_file_with(
        path: &Path,
        open: impl Fn(&Path) -> Result<Database, DatabaseError> + Send + 'static,
    ) -> Result<Self, FenceError> {
        make_file(path, &open)?;
        let file = path.to_owned();
        Self::open_with(path.to_owned(), move || open(&file))
    }

    /// Fences in whatever `open` opens; for tests that let it fail.
    #[doc(hidden)]
    pub fn open_with(
        path: PathBuf,
        open: impl Fn() -> Result<Database, DatabaseError> + Send + 'static,
    ) -> Result<Self, FenceError> {
        let mut fences = RedbFences {
            path,
            open: Box::new(open),
            database: None,
        };
        fences.high_water()?;
        Ok(fences)
    }

    /// How the file is opened. It is small: checking all of it costs nothing, and
    /// without the check redb may panic over a damaged one.
    #[doc(hidden)]
    pub fn builder() -> Builder {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE_BYTES);
        builder.set_check_integrity_on_open(true);
        builder
    }

    fn database(&mut self) -> Result<&Database, redb::Error> {
        if self.database.is_none() {
            self.database = Some((self.open)()?);
        }
        // It was put there just now.
        self.database.as_ref().ok_or(redb::Error::DatabaseClosed)
    }

    fn high_water(&mut self) -> Result<u64, FenceError> {
        let read = self.database().and_then(read_high_water);
        let high_water = read.map_err(|error| self.fail(error))?;
        if high_water >= FENCE_END {
            return Err(self.damaged(format!("the largest fence is {high_water}")));
        }
        Ok(high_water)
    }

    fn set_high_water(&mut self, high_water: u64) -> Result<(), FenceError> {
        let written = self
            .database()
            .and_then(|database| write_high_water(database, high_water));
        written.map_err(|error| self.fail(error))
    }

    /// redb refuses everything after a failed write until it is opened anew.
    fn fail(&mut self, error: redb::Error) -> FenceError {
        self.database = None;
        failure(&self.path, error)
    }

    fn damaged(&self, detail: String) -> FenceError {
        damaged(&self.path, detail)
    }
}

impl FenceStorage for RedbFences {
    fn reserve(&mut self, at_least: u64, count: u64) -> Result<Range<u64>, FenceError> {
        let range = next_range(self.high_water()?, at_least, count)?;
        self.set_high_water(range.end - 1)?;
        Ok(range)
    }

    fn give_back(&mut self, unused: Range<u64>) -> Result<(), FenceError> {
        if unused.end == self.high_water()? + 1 {
            self.set_high_water(unused.start - 1)?;
        }
        Ok(())
    }
}

/// Makes a file that is not there under another name, and gives it its own once
/// it is whole: redb takes one for damaged whose making was cut short.
fn make_file(
    path: &Path,
    open: &impl Fn(&Path) -> Result<Database, DatabaseError>,
) -> Result<(), FenceError> {
    if path.exists() {
        return Ok(());
    }
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = Path::new(&unfinished);
    let failed = |source| FenceError::File {
        path: path.to_owned(),
        source,
    };
    match fs::remove_file(unfinished) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    drop(open(unfinished).map_err(|error| failure(path, error.into()))?);
    // redb syncs what it writes, but it need not have as the file was made.
    let synced = File::options().write(true).open(unfinished);
    let synced = synced.and_then(|file| file.sync_all());
    synced
        .and_then(|()| fs::rename(unfinished, path))
        .map_err(failed)
}

/// What redb says of the file at `path`, in our words.
fn failure(path: &Path, error: redb::Error) -> FenceError {
    match error {
        redb::Error::Io(source) if !is_of_content(&source) => FenceError::File {
            path: path.to_owned(),
            source,
        },
        error if is_of_system(&error) => FenceError::Other(format!("{}: {error}", path.display())),
        error => damaged(path, error.to_string()),
    }
}

fn damaged(path: &Path, detail: String) -> FenceError {
    FenceError::Damaged {
        path: path.to_owned(),
        detail,
    }
}

/// Whether an error of reading tells of what was read.
fn is_of_content(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidData | ErrorKind::UnexpectedEof
    )
}

/// Whether the file may be whole in spite of the error.
fn is_of_system(error: &redb::Error) -> bool {
    use redb::Error::{DatabaseAlreadyOpen, DatabaseClosed, LockPoisoned, PreviousIo};
    matches!(
        error,
        DatabaseAlreadyOpen | DatabaseClosed | LockPoisoned(_) | PreviousIo
    )
}

fn read_high_water(database: &Database) -> Result<u64, redb::Error> {
    let transaction = database.begin_read()?;
    match transaction.open_table(FENCES) {
        Ok(table) => Ok(table.get(HIGH_WATER)?.map_or(0, |row| row.value())),
        Err(TableError::TableDoesNotExist(_)) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Commits are durable before they return, unless redb is told otherwise.
fn write_high_water(database: &Database, high_water: u64) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    transaction
        .open_table(FENCES)?
        .insert(HIGH_WATER, high_water)?;
    Ok(transaction.commit()?)
}
