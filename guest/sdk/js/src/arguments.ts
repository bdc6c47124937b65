// Every argument is looked at here, before the call: of the bindings, some trap at what
// they don't expect, and some make a number of it.

import { InvalidError } from './errors.js';

/** A span of time: milliseconds, or a text such as `'250ms'`, `'30s'`, `'5m'` or `'1h'`. */
export type Span = number | `${number}${'ms' | 's' | 'm' | 'h'}`;

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const longest = 0xffff_ffff;

/** A span in whole milliseconds. Less than one is not nothing. */
export function milliseconds(what: string, span: unknown): number | undefined {
  if (span === undefined) return undefined;
  const given = typeof span === 'string' ? parse(what, span) : span;
  if (typeof given !== 'number') {
    throw new TypeError(`a ${what} is milliseconds, or a text such as '30s', not ${kind(span)}`);
  }
  if (!(given >= 0)) throw new RangeError(`a ${what} is 0 ms or more, not ${given}`);
  const whole = Math.ceil(given);
  if (whole > longest) throw new InvalidError(`a ${what} is at most ${longest} ms, not ${whole}`);
  return whole;
}

function parse(what: string, span: string): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(span) ?? [];
  if (!unit) {
    throw new RangeError(`a ${what} is a text such as '250ms', '30s', '5m' or '1h', not '${span}'`);
  }
  // Of a count such as 1.001 s the product is a little more than it should be.
  return Number((Number(count) * units[unit as keyof typeof units]).toPrecision(15));
}

export function text(what: string, given: unknown): string {
  if (typeof given !== 'string') throw new TypeError(`a ${what} is a string, not ${kind(given)}`);
  // Half of a pair would be another character on its way: two keys could become one.
  if (/[\ud800-\udfff]/u.test(given)) throw new RangeError(`a ${what} is well-formed Unicode`);
  return given;
}

/** A number that crosses the boundary as it is; whether it is a limit, the engine says. */
export function limit(given: unknown): number {
  if (typeof given !== 'number') throw new TypeError(`a limit is a number, not ${kind(given)}`);
  if (!Number.isInteger(given) || given < 0 || given > longest) {
    throw new RangeError(`a limit is a whole number of 1 or more, not ${given}`);
  }
  return given;
}

export function work<W>(given: W): W {
  if (typeof given !== 'function') throw new TypeError(`the work is a function, not ${kind(given)}`);
  return given;
}

export function options<O extends object>(given: O): O {
  if (typeof given !== 'object' || given === null) {
    throw new TypeError(`options are an object, not ${kind(given)}`);
  }
  return given;
}

function kind(given: unknown): string {
  return given === null ? 'null' : typeof given;
}
