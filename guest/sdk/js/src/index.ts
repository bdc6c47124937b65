/// <reference lib="esnext.disposable" preserve="true" />

/**
 * Locks for WebAssembly components: one holder of a key at a time, across everything
 * that shares a store.
 *
 * ```ts
 * const summaries = Lock.open('summaries', { maxHold: '60s' });
 * await summaries.hold(chatId, async (lease) => {
 *   await writeSummary(chatId, lease.fence);
 * });
 * ```
 *
 * @packageDocumentation
 */

import * as raw from 'witlock:locks/locks@0.2.0';
import { limit, milliseconds, options as record, text, work as callable, type Span } from './arguments.js';
import { ending, lift, LockError, LostError, type Ending } from './errors.js';

export type { Span } from './arguments.js';
export {
  ClosedError,
  HeldByCallerError,
  InUseError,
  InvalidError,
  LockError,
  LostError,
  TooManyError,
  UnavailableError,
  type Ending,
} from './errors.js';

/** How the leases of a lock or a semaphore behave. */
export interface Options {
  /**
   * Where the store is reached over a connection: how long a lease lasts from its last
   * renewal, 1 s to 1 h; 30 s unless given. A host renews it while the guest lives. In
   * an app composed with `client.wasm`, the guest's own calls do.
   */
  ttl?: Span | undefined;
  /** How long a hold waits in line unless it says itself; 10 s unless given. */
  wait?: Span | undefined;
  /**
   * How long one lease may last from its grant. Past it the key goes to the next in
   * line, whatever its holder does. No bound unless given.
   */
  maxHold?: Span | undefined;
  /** What an operator sees beside the leases, at most 128 bytes. It decides nothing. */
  label?: string | undefined;
}

/** How one hold differs from another of the same lock. */
export interface HoldOptions {
  /** How long to wait in line, in place of what the lock says; 0 takes a key only if it is free. */
  wait?: Span | undefined;
}

/** What came of a try: what the work returned, or that somebody holds the key. */
export type Tried<T> = { readonly acquired: true; readonly value: T } | { readonly acquired: false };

/** What runs while the key is held. It gets the lease, which ends with it. */
export type Work<T> = (lease: Lease) => T | PromiseLike<T>;

// What only this module may do with a lease and with what was opened.
let leaseOf: (handle: raw.Lease) => Lease;
let finish: (lease: Lease) => LostError | undefined;
let opened: <K extends Keys>(keys: K, handle: raw.Lock | raw.Semaphore) => K;

/**
 * A key held. It lets the key go when it is disposed of: at the end of a hold by itself,
 * of a lease from {@link Lock.lease} by `using`. From then on it refuses to be used.
 */
export class Lease implements Disposable {
  // Gone with the handle's only disposal: StarlingMonkey gives a used handle to the next
  // lease, which would be answered for, and let go, in place of this one.
  #raw: raw.Lease | undefined;
  readonly #fence: number;
  // How it ended, once it was released.
  #ended: Ending | undefined;
  #disposed = false;

  static {
    leaseOf = (handle) => new Lease(handle);
    finish = (lease) => {
      lease.#disposed = true;
      return lease.#release();
    };
  }

  private constructor(handle: raw.Lease) {
    this.#raw = handle;
    // A bigint or a number; below 2^53 they are the same.
    this.#fence = Number(handle.fence());
  }

  /**
   * The lease's fence: larger than that of every lease the store gave before, restarts
   * included; at least 1 and below 2^53. Hand it to what the work writes to, and let
   * that refuse older ones.
   */
  get fence(): number {
    this.#check();
    return this.#fence;
  }

  /**
   * How the lease ended, or `undefined` while it lasts. Once it ended, another holder
   * may hold the key.
   */
  get ended(): Ending | undefined {
    this.#check();
    return this.#ended ?? ((this.#raw?.ended() ?? undefined) as Ending | undefined);
  }

  /**
   * Releases the key before the hold ends, and says so if the lease was lost. Over a
   * connection this waits for the store's answer, at most 5 s. Again, it changes nothing.
   *
   * @throws {LostError} if the lease had ended before, other than by its release
   */
  async release(): Promise<void> {
    this.#check();
    const lost = this.#release();
    if (lost) throw lost;
  }

  /** Lets the key go, without an answer: whether the lease was lost, {@link release} tells. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    const handle = this.#raw;
    this.#raw = undefined;
    if (!handle) return;
    // Work that disposes of its lease can't hide that it was lost.
    this.#ended = (handle.ended() ?? 'released') as Ending;
    handle[Symbol.dispose]();
  }

  #check(): void {
    if (this.#disposed) throw new LockError('the lease is used after its hold');
  }

  #release(): LostError | undefined {
    const handle = this.#raw;
    this.#raw = undefined;
    if (handle) {
      try {
        handle.release();
        this.#ended = 'released';
      } catch (thrown) {
        this.#ended = ending(thrown);
      } finally {
        handle[Symbol.dispose]();
      }
    }
    return this.#ended && this.#ended !== 'released' ? new LostError(this.#ended) : undefined;
  }
}

async function holding<T>(lease: Lease, work: Work<T>): Promise<T> {
  let value: T;
  try {
    value = await work(lease);
  } catch (failure) {
    throw because(failure, finish(lease));
  }
  const lost = finish(lease);
  if (lost) throw lost;
  return value;
}

/** The work's failure comes out. That the lease was lost as well is its cause, if it has no other. */
function because(failure: unknown, lost: LostError | undefined): unknown {
  if (lost && failure instanceof Error && failure.cause === undefined && Object.isExtensible(failure)) {
    Object.defineProperty(failure, 'cause', { value: lost, configurable: true, writable: true });
  }
  return failure;
}

/** What a lock and a semaphore have in common. */
abstract class Keys implements Disposable {
  #raw: raw.Lock | raw.Semaphore | undefined;

  static {
    opened = (keys, handle) => {
      keys.#raw = handle;
      return keys;
    };
  }

  protected constructor() {}

  /**
   * Waits for the key, 1 to 1024 bytes, and holds it while `work` runs. The key is let
   * go as soon as the work returned or threw.
   *
   * The wait stops the whole guest, its other promises and timers too.
   *
   * @returns what the work returned
   * @throws {LockError} why the key was not given; the work did not begin
   * @throws {LostError} if the lease ended while the work ran, even if the work succeeded:
   * another holder may have worked beside it. If the work threw, its own error comes out,
   * with the `LostError` as its `cause`, if it has no other. (A lease that the work
   * released itself is no loss.)
   */
  async hold<T>(key: string, work: Work<T>, options: HoldOptions = {}): Promise<T> {
    callable(work);
    return holding(this.#hold(key, options), work);
  }

  /**
   * As {@link hold} if the key is free; `{ acquired: false }` if it is held, by whomever.
   *
   * @throws as {@link hold}, but never `InUseError`
   */
  async tryHold<T>(key: string, work: Work<T>): Promise<Tried<T>> {
    callable(work);
    const lease = this.#tryHold(key);
    return lease ? { acquired: true, value: await holding(lease, work) } : { acquired: false };
  }

  /**
   * Waits for the key, and gives its lease, for `using`. Where it matters whether the lease
   * was lost, the last thing done under it is `await lease.release()`, which tells.
   *
   * @throws {LockError} why the key was not given
   */
  async lease(key: string, options: HoldOptions = {}): Promise<Lease> {
    return this.#hold(key, options);
  }

  /** The key's lease if the key is free; `undefined` if it is held, by whomever. */
  async tryLease(key: string): Promise<Lease | undefined> {
    return this.#tryHold(key);
  }

  /** Closes what {@link Lock.open} opened; leases go on. Where it is opened once, nobody needs to. */
  [Symbol.dispose](): void {
    const handle = this.#raw;
    this.#raw = undefined;
    handle?.[Symbol.dispose]();
  }

  #hold(key: string, options: HoldOptions): Lease {
    const [checked, wait] = [text('key', key), milliseconds('wait', record(options).wait)];
    return leaseOf(lifted(() => this.#open.hold(checked, wait)));
  }

  #tryHold(key: string): Lease | undefined {
    const checked = text('key', key);
    const handle = lifted(() => this.#open.tryHold(checked));
    return handle ? leaseOf(handle) : undefined;
  }

  get #open(): raw.Lock | raw.Semaphore {
    if (!this.#raw) throw new LockError('it is used after it was disposed of');
    return this.#raw;
  }
}

/**
 * Keys held by one holder at a time.
 *
 * Open it while the guest runs, not at the top of a module: that runs when the component
 * is built, where there is no store.
 */
export class Lock extends Keys {
  /**
   * A lock by its name, 1 to 128 bytes.
   *
   * @throws {InvalidError} if the name or an option is out of its bounds
   */
  static open(name: string, options: Options = {}): Lock {
    const [checked, terms] = [text('name', name), lower(options)];
    return opened(new Lock(), lifted(() => raw.Lock.open(checked, terms)));
  }
}

/** Keys held by up to a limit of holders at a time; open it as a {@link Lock}. */
export class Semaphore extends Keys {
  /**
   * A semaphore by its name and limit, 1 to 1000. A lock and a semaphore of one name are
   * two things. A hold of a key that is in use under another limit is an `InvalidError`
   * until nobody uses the key.
   *
   * @throws {InvalidError} if the name, the limit or an option is out of its bounds
   */
  static open(name: string, holders: number, options: Options = {}): Semaphore {
    const [checked, most, terms] = [text('name', name), limit(holders), lower(options)];
    return opened(new Semaphore(), lifted(() => raw.Semaphore.open(checked, most, terms)));
  }
}

function lower(options: Options): raw.Options {
  const { ttl, wait, maxHold, label } = record(options);
  return {
    ttl: milliseconds('ttl', ttl),
    wait: milliseconds('wait', wait),
    maxHold: milliseconds('max-hold', maxHold),
    label: label === undefined ? undefined : text('label', label),
  };
}

function lifted<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw lift(thrown);
  }
}
