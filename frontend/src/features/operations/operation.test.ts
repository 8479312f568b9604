import { expect, test } from 'vitest';
import { anOperation, aPlan, aRunningOperation } from '@/testing/operation-builders';
import { type Gate, holdLeftMs, missingFor, pollIntervalMs, staleLimitMs } from './operation';

const small: Gate = { needsName: false, needsLossAccepted: false, holdMs: 0 };
const service: Gate = { ...small, needsName: true };
const loss: Gate = { needsName: true, needsLossAccepted: true, holdMs: 10_000 };
const nothing = { typedName: '', reason: '', acceptsLoss: false };

test('each risk class asks for what its gate names, and for no more', () => {
  expect(missingFor(small, 'broker-a', nothing)).toEqual([]);
  expect(missingFor(service, 'broker-a', nothing)).toEqual(['name', 'reason']);
  expect(missingFor(loss, 'broker-a', nothing)).toEqual(['name', 'reason', 'loss']);
});

test('the name has to be typed as it is, and a reason of blanks is none', () => {
  const given = { typedName: 'Broker-a', reason: '  ', acceptsLoss: true };

  expect(missingFor(loss, 'broker-a', given)).toEqual(['name', 'reason']);
  expect(missingFor(loss, 'broker-a', { ...given, typedName: 'broker-a', reason: 'x' })).toEqual(
    [],
  );
});

test('only what was confirmed and never begun is held', () => {
  const atMs = Date.parse('2026-03-01T12:00:00Z');
  const held = anOperation({
    plan: aPlan({ gate: loss }),
    state: 'QUEUED',
    confirmedAt: '2026-03-01T11:59:57Z',
    notBefore: '2026-03-01T12:00:07Z',
  });

  expect(holdLeftMs(held, atMs)).toBe(7_000);
  expect(holdLeftMs(held, atMs + 8_000)).toBe(0);
  expect(holdLeftMs(held, atMs - 4_000)).toBe(10_000);
  expect(holdLeftMs(anOperation(), atMs)).toBe(0);
  // Between two attempts at a step it waits as well, but has begun.
  const steps = aRunningOperation().steps;
  expect(holdLeftMs({ ...held, steps }, atMs)).toBe(0);
});

test('what moves is asked about more often, and is old news sooner', () => {
  expect(pollIntervalMs('RUNNING')).toBeLessThan(pollIntervalMs('DONE'));
  expect(staleLimitMs('RUNNING')).toBeLessThan(staleLimitMs('DONE'));
  expect(staleLimitMs('RUNNING')).toBeGreaterThan(pollIntervalMs('RUNNING'));
});
