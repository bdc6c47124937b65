// What the SDK of every language has to do alike: `conformance.wasm CASE` prints what it
// sees, and a test of the repository compares it.

import {
  ClosedError,
  HeldByCallerError,
  InUseError,
  InvalidError,
  Lock,
  LockError,
  LostError,
  Semaphore,
  TooManyError,
  UnavailableError,
  type Lease,
  type Options,
} from '@witlock/guest';
import { args, print, printError, sleep } from '../example/wasi.js';

const open = (options?: Options) => Lock.open('conformance', options);

const cases: Record<string, () => Promise<void>> = {
  async hold() {
    const lock = open();
    await lock.hold('key', async (lease) => {
      print(`fence ${lease.fence}`);
      await attempt(lock);
    });
    await attempt(lock);
  },

  async wait() {
    await failing(() => open().hold('key', nothing, { wait: 50 }));
    await failing(() => open({ wait: '50ms' }).hold('key', nothing));
  },

  async try() {
    await attempt(open());
    await attempt(open(), 'other');
  },

  async 'held-by-caller'() {
    const lock = open();
    await lock.hold('key', () => failing(() => lock.hold('key', nothing, { wait: 100 })));
  },

  async lost() {
    await failing(() =>
      open({ maxHold: 100 }).hold('key', async (lease) => {
        print(`ended ${await untilEnded(lease)}`);
      }),
    );
  },

  async invalid() {
    await failing(() => Lock.open(''));
    await failing(() => Lock.open('n'.repeat(129)));
    await failing(() => open().hold('', nothing));
    await failing(() => open().tryHold('k'.repeat(1025), nothing));
    await failing(() => Semaphore.open('conformance', 0));
    await failing(() => Semaphore.open('conformance', 1001));
    await failing(() => open({ ttl: '999ms' }));
    await failing(() => open({ maxHold: 0 }));
    await failing(() => open({ label: 'l'.repeat(129) }));
  },

  async spans() {
    await failing(() => open().hold('key', nothing, { wait: 4294967296 }));
    await failing(() => open({ ttl: 4294967296 }));
    await failing(() => open({ maxHold: '4294967296ms' }));
  },

  async drop() {
    const lock = open();
    {
      using lease = await lock.lease('key');
      print(`fence ${lease.fence}`);
    }
    await attempt(lock);
  },

  async exception() {
    const lock = open();
    await failing(() =>
      lock.hold('key', () => {
        throw new Error('boom');
      }),
    );
    await attempt(lock);
  },

  async 'exception-lost'() {
    await failing(() =>
      open({ maxHold: 100 }).hold('key', async (lease) => {
        await untilEnded(lease);
        throw new Error('boom');
      }),
    );
  },

  async uncaught() {
    await open().hold('key', (lease) => {
      print(`fence ${lease.fence}`);
      throw new Error('boom');
    });
  },

  async semaphore() {
    const semaphore = Semaphore.open('conformance', 2);
    await semaphore.hold('key', async (first) => {
      print(`fence ${first.fence}`);
      await semaphore.hold('key', async (second) => {
        print(`fence ${second.fence}`);
        await attempt(semaphore);
        await failing(() => semaphore.hold('key', nothing, { wait: '100ms' }));
      });
    });
    await attempt(semaphore);
  },

  async fence() {
    await open().hold('key', (lease) => print(`fence ${lease.fence}`));
  },

  async released() {
    const lock = open();
    await lock.hold('key', async (lease) => {
      await lease.release();
      print(`fence ${lease.fence}`);
      await attempt(lock);
    });
    print('ok');
  },

  async after() {
    const kept = await open().hold('key', (lease) => lease);
    await refused(() => kept.fence, LockError);
    await refused(() => kept.ended, LockError);
    await refused(() => kept.release(), LockError);
  },

  async misuse() {
    const lock = open();
    const other = 7 as unknown as string;
    await refused(() => lock.hold(other, nothing), TypeError);
    await refused(() => lock.hold('key', nothing, { wait: -1 }), RangeError);
    await refused(() => lock.hold('key', nothing, { wait: NaN }), RangeError);
    await refused(() => lock.hold('key', nothing, { wait: 'soon' as '1s' }), RangeError);
    await refused(() => Lock.open(other), TypeError);
    await cases['fence']!();
  },
};

function nothing(): void {}

/** Tries the key, and prints what came of it. */
async function attempt(keys: Lock | Semaphore, key = 'key'): Promise<void> {
  const tried = await keys.tryHold(key, (lease) => lease.fence);
  print(tried.acquired ? `fence ${tried.value}` : 'none');
}

async function untilEnded(lease: Lease): Promise<string> {
  while (lease.ended === undefined) await sleep(10);
  return lease.ended;
}

/** Prints why it fails. */
async function failing(call: () => unknown): Promise<void> {
  try {
    await call();
    print('nothing failed');
  } catch (error) {
    print(told(error));
  }
}

async function refused(call: () => unknown, how: typeof TypeError | typeof LockError): Promise<void> {
  try {
    await call();
    print('not refused');
  } catch (error) {
    print(error instanceof how ? 'refused' : `not refused: ${error}`);
  }
}

function told(error: unknown): string {
  if (error instanceof InUseError) return 'in-use';
  if (error instanceof HeldByCallerError) return 'held-by-caller';
  if (error instanceof InvalidError) return `invalid: ${error.message}`;
  if (error instanceof TooManyError) return `too-many: ${error.message}`;
  if (error instanceof ClosedError) return 'closed';
  if (error instanceof UnavailableError) return `unavailable: ${error.message}`;
  if (error instanceof LostError) return `lost: ${error.ending}`;
  return error instanceof Error ? error.message : String(error);
}

export const run = {
  async run(): Promise<void> {
    const [name = ''] = args();
    const found = Object.hasOwn(cases, name) ? cases[name] : undefined;
    if (!found) {
      printError(`there is no case '${name}'`);
      throw undefined;
    }
    await found();
  },
};
