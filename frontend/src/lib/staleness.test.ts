import { expect, test } from 'vitest';
import { stalenessOf } from './staleness';

test('an answer is stale once it is older than its limit', () => {
  const asked = { dataUpdatedAt: 10_000, error: null };

  expect(stalenessOf(asked, 4_000, 14_000)).toEqual({ isStale: false, ageMs: 4_000 });
  expect(stalenessOf(asked, 4_000, 14_001)).toEqual({ isStale: true, ageMs: 4_001 });
});

test('an answer after which one failed is stale at once', () => {
  const asked = { dataUpdatedAt: 10_000, error: new Error('out of reach') };

  expect(stalenessOf(asked, 4_000, 10_200)).toEqual({ isStale: true, ageMs: 200 });
});

const live = (heardMs: number) => ({ isLive: true, heardMs, cutMs: 0 });

test('an answer that heeds the stream is known for as long as that was heard', () => {
  const asked = { dataUpdatedAt: 10_000, error: null };

  expect(stalenessOf(asked, 15_000, 90_000, live(88_500))).toEqual({
    isStale: false,
    ageMs: 1_500,
  });
});

test('an answer is stale once the control plane is silent, before the connection counts as cut', () => {
  // Case B12: the green sentence stayed while the control plane was frozen.
  const asked = { dataUpdatedAt: 10_000, error: null };

  expect(stalenessOf(asked, 45_000, 65_000, live(60_000)).isStale).toBe(false);
  expect(stalenessOf(asked, 45_000, 65_001, live(60_000))).toEqual({ isStale: true, ageMs: 5_001 });
});

test('an answer from before a cut is stale at once, and one from behind it is as old as it is', () => {
  // Case B12.
  const cut = { isLive: false, heardMs: 60_000, cutMs: 61_000 };

  expect(stalenessOf({ dataUpdatedAt: 10_000, error: null }, 15_000, 61_001, cut)).toEqual({
    isStale: true,
    ageMs: 1_001,
  });
  expect(stalenessOf({ dataUpdatedAt: 62_000, error: null }, 15_000, 70_000, cut)).toEqual({
    isStale: false,
    ageMs: 8_000,
  });
});

test('an answer that could not be asked for again is as old as it is, whatever was heard', () => {
  const asked = { dataUpdatedAt: 10_000, error: new Error('out of reach') };

  expect(stalenessOf(asked, 4_000, 60_000, live(59_000))).toEqual({ isStale: true, ageMs: 50_000 });
});
