import { expect, test } from 'vitest';
import { notCollected, readingOf, sumOf, unknown, value } from './reading';

test('zero, unknown and not collected stay three different things', () => {
  const pick = (sample: { rate: number | null }) => sample.rate;

  expect(readingOf({ rate: 0 }, pick)).toEqual(value(0));
  expect(readingOf({ rate: null }, pick)).toEqual(unknown);
  expect(readingOf(null, pick)).toEqual(notCollected);
});

test('a sum counts what is known and says how much of the whole that was', () => {
  const sum = sumOf([value(2), unknown, value(3), notCollected]);

  expect(sum).toEqual({ reading: value(5), counted: 2, total: 4 });
});

test('a sum of nothing known is not zero', () => {
  expect(sumOf([unknown, notCollected]).reading).toEqual(unknown);
  expect(sumOf([notCollected]).reading).toEqual(notCollected);
  expect(sumOf([]).reading).toEqual(notCollected);
});
