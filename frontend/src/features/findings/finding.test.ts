import { expect, test } from 'vitest';
import { aFinding, openFindingsOf } from '@/testing/finding-builders';
import { evidenceOf, type Finding, sumOf, toneOf } from './finding';

test('what has ended is no alarm, however bad it was', () => {
  expect(toneOf(aFinding())).toBe('warn');
  expect(toneOf(aFinding({ severity: 'CRITICAL' }))).toBe('bad');
  expect(toneOf(aFinding({ severity: 'CRITICAL', closedAt: '2026-11-22T10:01:00Z' }))).toBe('idle');
});

test('evidence is read out whatever it holds, and what is not known is said', () => {
  const evidence = { masters: ['a/1', 'a/2'], epoch: 3, elected: null, seen: { by: 'x' } };

  expect(evidenceOf(aFinding({ evidence }))).toBe(
    'masters: a/1, a/2 · epoch: 3 · elected: unknown · seen: by x',
  );
  expect(evidenceOf(aFinding({ evidence: {} }))).toBe('');
  // It stands above the evidence.
  expect(evidenceOf(aFinding({ evidence: { sentence: 'It is so.', epoch: 3 } }))).toBe('epoch: 3');
});

test('of findings of which not all were read the worst is shown only if it can be no worse', () => {
  const more = (...severities: Finding['severity'][]) => {
    const { findings } = openFindingsOf(...severities);
    return sumOf({ findings: { ...findings, totalCount: 200 } });
  };

  expect(more('WARNING', 'CRITICAL')).toEqual({ count: 200, worst: 'CRITICAL' });
  expect(more('WARNING')).toEqual({ count: 200, worst: undefined });
  expect(sumOf(openFindingsOf('WARNING'))).toEqual({ count: 1, worst: 'WARNING' });
});
