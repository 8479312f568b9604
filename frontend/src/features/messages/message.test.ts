import { expect, test } from 'vitest';
import { aMessage } from '@/testing/message-builders';
import { followed, instantOf } from './message';

test('what comes is put before what is known, and the oldest are let go', () => {
  const known = Array.from({ length: 200 }, (_, number) =>
    aMessage({ messageId: `old-${number}` }),
  );
  const come = [aMessage({ messageId: 'first' }), aMessage({ messageId: 'second' })];

  const shown = followed(known, come).map((one) => one.messageId);

  expect(shown.slice(0, 3)).toEqual(['second', 'first', 'old-0']);
  expect(shown).toHaveLength(200);
});

test('a local time becomes an instant, and what is no time none', () => {
  expect(instantOf('2026-11-22T10:00')).toBe(new Date(2026, 10, 22, 10).toISOString());
  expect(instantOf('yesterday')).toBeNull();
  expect(instantOf(undefined)).toBeNull();
});
