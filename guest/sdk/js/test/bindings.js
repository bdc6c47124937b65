// Bindings that are as the engines' are at their worst: errors that are no Error, a
// bigint, null for none, a wait that has to be there, and handles that are an index, which
// is the next lease's once it was disposed of.

const leases = new Map();

export const seen = { calls: [], released: [], ending: undefined };
export const left = () => leases.size;

let fence = 2 ** 52;

class Lease {
  constructor(key) {
    for (this.index = 0; leases.has(this.index); ) this.index += 1;
    leases.set(this.index, { key, fence: ++fence });
  }

  get #lease() {
    const lease = leases.get(this.index);
    if (!lease) throw new WebAssembly.RuntimeError('unknown handle index');
    return lease;
  }

  fence() {
    return BigInt(this.#lease.fence);
  }

  ended() {
    return this.#lease && seen.ending;
  }

  release() {
    const { key } = this.#lease;
    if (seen.ending) refuse(seen.ending);
    seen.released.push(key);
  }

  [Symbol.dispose]() {
    if (this.#lease) leases.delete(this.index);
  }
}

export class Lock {
  static open(...given) {
    seen.calls.push(given);
    return new this();
  }

  hold(...given) {
    if (given.length < 2) throw new TypeError('[method]lock.hold requires 3 arguments');
    seen.calls.push(given);
    const [key] = given;
    if (key === 'taken') refuse({ tag: 'in-use' });
    if (key === 'long') refuse({ tag: 'invalid', val: 'a key has 1 to 1024 bytes' });
    return new Lease(key);
  }

  tryHold(key) {
    return key === 'taken' ? null : new Lease(key);
  }

  [Symbol.dispose]() {
    if (this.disposed) throw new WebAssembly.RuntimeError('unknown handle index');
    this.disposed = true;
  }
}

export class Semaphore extends Lock {}

function refuse(payload) {
  throw { payload };
}
