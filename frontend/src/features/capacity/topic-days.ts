import type { CapacityRowFieldsFragment } from '@/gql/operations';

/** The bytes one topic wrote to one broker, day by day; a day without figure was not collected. */
export type TopicDaysRow = {
  id: string;
  topicName: string;
  brokerName: string;
  days: Record<string, number | null>;
  total: number;
};

const dayCountMax = 14;

/** The last days any row speaks of, oldest first. */
export function daysOf(rows: CapacityRowFieldsFragment[]): string[] {
  const days = new Set(rows.flatMap((row) => (row.day === null ? [] : [row.day])));
  return [...days].sort().slice(-dayCountMax);
}

export function topicDays(rows: CapacityRowFieldsFragment[], days: string[]): TopicDaysRow[] {
  const shown = new Set(days);
  const byTopic = new Map<string, TopicDaysRow>();
  for (const row of rows) {
    if (row.day === null || row.topicName === null || !shown.has(row.day)) continue;
    const { topicName, brokerName } = row;
    const id = `${row.clusterName}/${brokerName}/${topicName}`;
    const entry = byTopic.get(id) ?? { id, topicName, brokerName, days: {}, total: 0 };
    const bytes = row.bytes === null ? null : Number(row.bytes);
    entry.days[row.day] = bytes;
    entry.total += bytes ?? 0;
    byTopic.set(id, entry);
  }
  return [...byTopic.values()].sort((left, right) => right.total - left.total);
}
