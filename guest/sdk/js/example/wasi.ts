// The little of WASI that the guests use. Both engines take it: QuickJS has no
// `console`, `setTimeout` and `TextEncoder`, and no bigint for a u64.

import { getArguments } from 'wasi:cli/environment@0.2.6';
import { getStderr } from 'wasi:cli/stderr@0.2.6';
import { getStdout } from 'wasi:cli/stdout@0.2.6';
import { subscribeDuration } from 'wasi:clocks/monotonic-clock@0.2.6';
import { getDirectories } from 'wasi:filesystem/preopens@0.2.6';
import type { Descriptor } from 'wasi:filesystem/types@0.2.6';

/** What was given to the program, after its name. */
export const args = (): string[] => getArguments().slice(1);

export function print(line: string): void {
  using out = getStdout();
  out.blockingWriteAndFlush(utf8(line + '\n'));
}

export function printError(line: string): void {
  using out = getStderr();
  out.blockingWriteAndFlush(utf8(line + '\n'));
}

/** Sleeps with all of the guest. A promise, as what it stands for would be. */
export async function sleep(milliseconds: number): Promise<void> {
  using due = subscribeDuration(u64(milliseconds * 1_000_000));
  due.block();
}

/** A file in a preopened directory, which is made if it is not there. */
export function open(directory: string, name: string): Descriptor {
  const at = getDirectories().find(([, path]) => path === directory)?.[0];
  if (!at) throw new Error(`no directory ${directory} was given`);
  return at.openAt({}, name, { create: true }, { read: true, write: true });
}

/** Adds a line to a file, in one write. */
export function append(file: Descriptor, line: string): void {
  using end = file.appendViaStream();
  end.blockingWriteAndFlush(utf8(line + '\n'));
}

export function lines(file: Descriptor): string[] {
  let text = '';
  for (let read = 0, end = false; !end; ) {
    const [bytes, last] = file.read(u64(65_536), u64(read));
    text += String.fromCharCode(...bytes);
    read += bytes.length;
    end = last || bytes.length === 0;
  }
  return decodeURIComponent(escape(text)).split('\n').slice(0, -1);
}

const utf8 = (text: string): Uint8Array =>
  Uint8Array.from(unescape(encodeURIComponent(text)), (byte) => byte.charCodeAt(0));

/** StarlingMonkey takes a number for a u64 as well as a bigint, QuickJS nothing else. */
const u64 = (whole: number): bigint => whole as unknown as bigint;
