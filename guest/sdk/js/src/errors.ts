/** How a lease ended. */
export type Ending =
  /** Its holder released it. */
  | 'released'
  /** Its ttl ran out unrenewed. */
  | 'expired'
  /** Its `maxHold` was reached. */
  | 'revoked'
  /** An operator broke it. */
  | 'broken'
  /** The store closed. */
  | 'closed'
  /** The store could not be reached for so long that the lease may have been given on. */
  | 'unreachable';

/**
 * What every error of this package is, save the `TypeError` and `RangeError` of an
 * argument that is none. By itself it says that a lease or a lock is used after it
 * was let go.
 */
export class LockError extends Error {
  static {
    this.prototype.name = 'LockError';
  }
}

/** The key was still held when the wait ran out. */
export class InUseError extends LockError {
  static {
    this.prototype.name = 'InUseError';
  }

  constructor() {
    super('the key was still held when the wait ran out');
  }
}

/** This guest holds the key itself, and would wait for itself. */
export class HeldByCallerError extends LockError {
  static {
    this.prototype.name = 'HeldByCallerError';
  }

  constructor() {
    super('the key is held by the caller itself, which would wait for itself');
  }
}

/**
 * A name, a key, a limit or an option is out of its bounds, or the key is in use under
 * another limit; the message says which.
 */
export class InvalidError extends LockError {
  static {
    this.prototype.name = 'InvalidError';
  }
}

/** As many wait for the key, or are held by this guest, as may; the message says which. */
export class TooManyError extends LockError {
  static {
    this.prototype.name = 'TooManyError';
  }
}

/** The store closed. */
export class ClosedError extends LockError {
  static {
    this.prototype.name = 'ClosedError';
  }

  constructor() {
    super('the store closed');
  }
}

/**
 * The store or its durable fences cannot be reached; the message says why. The guest
 * holds nothing: a grant on its way is let go when the store is reached again, at the
 * latest by its ttl.
 */
export class UnavailableError extends LockError {
  static {
    this.prototype.name = 'UnavailableError';
  }
}

/**
 * The lease ended while the work ran. What was done under it may have run beside
 * another holder, even if the work succeeded.
 */
export class LostError extends LockError {
  static {
    this.prototype.name = 'LostError';
  }

  /** How the lease ended. */
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(`the lease was lost while the work ran: ${ending}`);
    this.ending = ending;
  }
}

/**
 * What a call of the bindings threw, as the error of this package that it stands for.
 * StarlingMonkey throws what is no `Error`, with the same payload.
 */
export function lift(thrown: unknown): unknown {
  const { tag, val = '' } = payload(thrown) as { tag?: string; val?: string };
  switch (tag) {
    case 'in-use':
      return new InUseError();
    case 'held-by-caller':
      return new HeldByCallerError();
    case 'invalid':
      return new InvalidError(val);
    case 'too-many':
      return new TooManyError(val);
    case 'closed':
      return new ClosedError();
    case 'unavailable':
      return new UnavailableError(val);
    default:
      return thrown;
  }
}

/** How a lease had ended before its release, from what the release threw. */
export function ending(thrown: unknown): Ending {
  const how = payload(thrown);
  if (typeof how !== 'string') throw thrown;
  return how as Ending;
}

function payload(thrown: unknown): unknown {
  return (thrown as { payload?: unknown } | null | undefined)?.payload ?? {};
}
