// One summary per chat: `summaries.wasm CHAT [WORK_MS]`.

import { Lock, LockError, LostError } from '@witlock/guest';
import { LateError, save } from './shelf.js';
import { args, print, printError, sleep } from './wasi.js';

// Which engine the guest was built for.
const writer = 'console' in globalThis ? 'js' : 'js-qjs';

async function main(): Promise<boolean> {
  const [chat = 'chat-1', work = '50'] = args();
  const summaries = Lock.open('summaries', { maxHold: '2s', wait: '5m', label: writer });
  try {
    await summaries.hold(chat, async (lease) => {
      print(`${writer} summarises ${chat} under fence ${lease.fence}`);
      const text = await summarise(chat, Number(work));
      save(chat, writer, text, lease.fence); // the shelf refuses who is late
      print(`${writer} wrote ${chat} under fence ${lease.fence}`);
    });
    return true;
  } catch (error) {
    report(error);
    return false;
  }
}

/** Asks a model, if this were more than an example. */
async function summarise(chat: string, milliseconds: number): Promise<string> {
  await sleep(milliseconds);
  return `what was said in ${chat}`;
}

function report(error: unknown): void {
  if (error instanceof LateError) {
    printError(`not written: ${error.message}`);
    report(error.cause); // that the lease was lost meanwhile
  } else if (error instanceof LostError) {
    printError(`lease lost: ${error.ending}`);
  } else if (error instanceof LockError) {
    printError(`no key: ${error.message}`);
  } else if (error !== undefined) {
    printError(`failed: ${error}`);
  }
}

export const run = {
  // The world says whether this is of WASI 0.2 (StarlingMonkey) or 0.3 (QuickJS).
  async run(): Promise<void> {
    if (!(await main())) throw undefined; // exit code 1
  },
};
