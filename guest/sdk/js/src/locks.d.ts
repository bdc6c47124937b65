// What `witlock:locks/locks@0.2.0` is to a guest, in either engine: where they differ,
// the one that is StarlingMonkey's stands first.
declare module 'witlock:locks/locks@0.2.0' {
  interface Options {
    ttl: number | undefined;
    wait: number | undefined;
    maxHold: number | undefined;
    label: string | undefined;
  }

  class Lease implements Disposable {
    fence(): bigint | number;
    ended(): string | undefined | null;
    release(): void;
    [Symbol.dispose](): void;
  }

  class Lock implements Disposable {
    static open(name: string, options: Options): Lock;
    // QuickJS counts its arguments: the wait has to be there.
    hold(key: string, wait: number | undefined): Lease;
    tryHold(key: string): Lease | undefined | null;
    [Symbol.dispose](): void;
  }

  class Semaphore implements Disposable {
    static open(name: string, limit: number, options: Options): Semaphore;
    hold(key: string, wait: number | undefined): Lease;
    tryHold(key: string): Lease | undefined | null;
    [Symbol.dispose](): void;
  }
}
