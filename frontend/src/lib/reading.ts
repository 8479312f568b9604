/**
 * A number as it is known: a value (0 included), unknown (asked for, no answer can be given yet) or
 * not collected (never measured). The three are never mixed (D21).
 */
export type Reading =
  | { kind: 'value'; value: number }
  | { kind: 'unknown' }
  | { kind: 'not-collected' };

export const unknown: Reading = { kind: 'unknown' };
export const notCollected: Reading = { kind: 'not-collected' };

export function value(number: number): Reading {
  return { kind: 'value', value: number };
}

/** Reads a field of a sample: no sample means not collected, a null in it means unknown. */
export function readingOf<T>(
  sample: T | null | undefined,
  pick: (sample: T) => number | string | null,
): Reading {
  if (sample === null || sample === undefined) return notCollected;
  const picked = pick(sample);
  return picked === null ? unknown : value(Number(picked));
}

export type Sum = { reading: Reading; counted: number; total: number };

/** Adds what is known and says how much of it was; nothing known is not zero. */
export function sumOf(readings: Reading[]): Sum {
  const values = readings.flatMap((reading) => (reading.kind === 'value' ? [reading.value] : []));
  const total = readings.length;
  if (values.length > 0) {
    const sum = values.reduce((left, right) => left + right, 0);
    return { reading: value(sum), counted: values.length, total };
  }
  const collected = readings.some((reading) => reading.kind === 'unknown');
  return { reading: collected ? unknown : notCollected, counted: 0, total };
}

/** Orders readings with whatever is not a value last. */
export function sortKeyOf(reading: Reading): number | undefined {
  return reading.kind === 'value' ? reading.value : undefined;
}
