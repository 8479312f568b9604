import { expect, test } from 'vitest';
import { aRow } from '@/testing/builders';
import { daysOf, topicDays } from './topic-days';

function day(topicName: string, date: string, bytes: string | null) {
  return aRow({ kind: 'TOPIC_DAY', topicName, day: date, bytes });
}

test('the busiest topic comes first and a day without figure stays without', () => {
  const rows = [
    day('quiet', '2026-03-01', '10'),
    day('busy', '2026-03-01', '100'),
    day('busy', '2026-03-02', null),
  ];

  const table = topicDays(rows, daysOf(rows));

  expect(table.map((row) => row.topicName)).toEqual(['busy', 'quiet']);
  expect(table[0]?.days).toEqual({ '2026-03-01': 100, '2026-03-02': null });
  expect(table[1]?.days['2026-03-02']).toBeUndefined();
});

test('only the last two weeks are shown', () => {
  const dates = Array.from(
    { length: 20 },
    (_, index) => `2026-03-${String(index + 1).padStart(2, '0')}`,
  );

  const days = daysOf(dates.map((date) => day('orders', date, '1')));

  expect(days).toHaveLength(14);
  expect(days[0]).toBe('2026-03-07');
});
