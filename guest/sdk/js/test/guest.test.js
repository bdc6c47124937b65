// The package over bindings of the test's own.

import assert from 'node:assert/strict';
import { register } from 'node:module';
import { test } from 'node:test';

const url = new URL('bindings.js', import.meta.url).href;
const hook = `export const resolve = (name, context, next) =>
  name.startsWith('witlock:') ? { url: '${url}', shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const { seen, left } = await import('witlock:locks/locks@0.2.0');
const { Lock, LostError, LockError, InUseError, InvalidError, Semaphore } = await import('@witlock/guest');

const lock = Lock.open('lock');
const lastCall = () => seen.calls.at(-1);

// LOCK-11, LOCK-12
test('spans', async () => {
  const waits = { 0: 0, 0.2: 1, 1.5: 2, '250ms': 250, '30s': 30_000, '1.001s': 1001, '5m': 300_000, '0.1ms': 1, '1h': 3_600_000 };
  for (const [wait, expected] of Object.entries(waits)) {
    await lock.hold('key', () => {}, { wait: Number.isNaN(Number(wait)) ? wait : Number(wait) });
    assert.deepEqual(lastCall(), ['key', expected]);
  }
  await lock.hold('key', () => {});
  assert.deepEqual(lastCall(), ['key', undefined]);
  await lock.hold('key', () => {}, { wait: 4_294_967_295 });
  const long = { name: 'InvalidError', message: 'a wait is at most 4294967295 ms, not 4294967296' };
  await assert.rejects(lock.hold('key', () => {}, { wait: 4_294_967_296 }), long);
  for (const wait of [-1, NaN, -Infinity, '', '1', '1 s', '-1s', '1e3s', 'soon', '1d']) {
    await assert.rejects(lock.hold('key', () => {}, { wait }), RangeError, `${wait}`);
  }
  for (const wait of [null, true, 1n, {}, []]) {
    await assert.rejects(lock.hold('key', () => {}, { wait }), TypeError);
  }
});

// LOCK-12
test('options', () => {
  Lock.open('name', { ttl: '1m', wait: 5, maxHold: '2s', label: 'me' });
  assert.deepEqual(lastCall(), ['name', { ttl: 60_000, wait: 5, maxHold: 2_000, label: 'me' }]);
  Semaphore.open('name', 3);
  const none = { ttl: undefined, wait: undefined, maxHold: undefined, label: undefined };
  assert.deepEqual(lastCall(), ['name', 3, none]);
  for (const limit of [-1, 1.5, NaN, 2 ** 32]) assert.throws(() => Semaphore.open('name', limit), RangeError);
  for (const limit of [undefined, '3', 3n]) assert.throws(() => Semaphore.open('name', limit), TypeError);
  assert.throws(() => Lock.open('name', '5s'), TypeError);
  assert.throws(() => Lock.open('name', { label: 5 }), TypeError);
  assert.throws(() => Lock.open('half \ud83d'), RangeError);
});

// LOCK-12
test('what is refused before the call holds nothing', async () => {
  await assert.rejects(lock.hold('key'), TypeError);
  await assert.rejects(lock.hold('key', () => {}, 5), TypeError);
  await assert.rejects(lock.tryHold(Symbol('key'), () => {}), TypeError);
  assert.equal(left(), 0);
});

// LOCK-12
test('errors', async () => {
  await assert.rejects(lock.hold('taken', () => {}), InUseError);
  await assert.rejects(lock.hold('long', () => {}), { name: 'InvalidError', message: 'a key has 1 to 1024 bytes' });
  assert.ok(new InvalidError('') instanceof LockError && new InvalidError('') instanceof Error);
});

// LOCK-06
test('a hold gives what the work does, and lets go', async () => {
  assert.equal(await lock.hold('key', async (lease) => lease.fence - lease.fence + 7), 7);
  assert.deepEqual(await lock.tryHold('key', () => 7), { acquired: true, value: 7 });
  assert.deepEqual(await lock.tryHold('taken', () => 7), { acquired: false });
  await assert.rejects(lock.hold('key', () => Promise.reject(new Error('boom'))), /^Error: boom$/);
  assert.equal(left(), 0);
});

// LOCK-10
test('a lease is never another', async () => {
  const kept = await lock.hold('first', (lease) => lease);
  await lock.hold('second', (lease) => {
    for (const use of [() => kept.fence, () => kept.ended]) assert.throws(use, LockError);
    kept[Symbol.dispose]();
    assert.ok(lease.fence > 2 ** 52);
  });
  await assert.rejects(kept.release(), LockError);
  assert.deepEqual(seen.released.slice(-2), ['first', 'second']);
  const lease = await lock.lease('third');
  await lease.release();
  await lease.release();
  assert.deepEqual([lease.ended, seen.released.at(-1)], ['released', 'third']);
  const other = await lock.tryLease('fourth');
  lease[Symbol.dispose]();
  assert.ok(other.fence > 2 ** 52);
  other[Symbol.dispose]();
  other[Symbol.dispose]();
  assert.equal(await lock.tryLease('taken'), undefined);
  assert.equal(left(), 0);
});

// LOCK-07
test('a lost lease', async () => {
  seen.ending = 'revoked';
  try {
    await assert.rejects(lock.hold('key', () => 'well'), { name: 'LostError', ending: 'revoked' });
    await assert.rejects(lock.hold('key', (lease) => lease.release()), LostError);
    await assert.rejects(lock.hold('key', (lease) => lease[Symbol.dispose]()), LostError);
    const boom = new Error('boom');
    await assert.rejects(lock.hold('key', () => { throw boom; }), boom);
    assert.equal(boom.cause.ending, 'revoked');
    const caused = new Error('boom', { cause: 'another' });
    await assert.rejects(lock.hold('key', () => { throw caused; }), { cause: 'another' });
    for (const odd of [undefined, 'text', Object.freeze(new Error('frozen'))]) {
      await lock.hold('key', () => { throw odd; }).then(assert.fail, (thrown) => assert.equal(thrown, odd));
    }
    seen.ending = 'released';
    assert.equal(await lock.hold('key', () => 'well'), 'well');
  } finally {
    seen.ending = undefined;
  }
  assert.equal(left(), 0);
});

// LOCK-10
test('a lock that is disposed of', async () => {
  const other = Lock.open('other');
  other[Symbol.dispose]();
  other[Symbol.dispose]();
  await assert.rejects(other.hold('key', () => {}), LockError);
});
