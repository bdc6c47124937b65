// What the summaries are written to. It is where late writers are refused.

import { append, lines, open } from './wasi.js';

/** The chat has a summary that was written under a larger fence. */
export class LateError extends Error {
  constructor(
    readonly fence: number,
    readonly other: number,
  ) {
    super(`${fence} is late, ${other} has written`);
  }
}

/**
 * Writes the chat's summary, unless somebody has under a larger fence.
 *
 * To the file, lines are only ever added, each in one write. A line counts only if its
 * fence is larger than that of every earlier line of its chat. So to add one and to read
 * back whether it counts is a comparison and a write in one, whoever else writes.
 */
export function save(chat: string, writer: string, text: string, fence: number): void {
  using file = open('/shelf', 'summaries');
  append(file, `${fence} ${chat} ${writer} ${text}`);
  let largest = 0;
  for (const [at, of] of lines(file).map((line) => line.split(' '))) {
    if (of !== chat) continue;
    if (Number(at) === fence && largest < fence) return;
    largest = Math.max(largest, Number(at));
    if (Number(at) === fence) break;
  }
  throw new LateError(fence, largest);
}
