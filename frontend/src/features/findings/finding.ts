import type { StateTone } from '@/components/state-mark';
import type { FindingsQuery, OpenFindingsQuery } from '@/gql/operations';

export type Finding = FindingsQuery['findings']['nodes'][number];

export const findingStates = ['open', 'closed', 'all'] as const;
export type FindingState = (typeof findingStates)[number];

/** One that has ended is no alarm any more, however bad it was. */
export function toneOf({ severity, closedAt }: Finding): StateTone {
  if (closedAt !== null) return 'idle';
  return severity === 'CRITICAL' ? 'bad' : 'warn';
}

export type OpenSum = {
  count: number;
  /** Absent where none is critical among those that were read, and not all were. */
  worst: Finding['severity'] | undefined;
};

export function sumOf({ findings: { nodes, totalCount } }: OpenFindingsQuery): OpenSum {
  if (nodes.some((one) => one.severity === 'CRITICAL')) {
    return { count: totalCount, worst: 'CRITICAL' };
  }
  return { count: totalCount, worst: nodes.length === totalCount ? 'WARNING' : undefined };
}

/** Evidence in a line: whatever the finding names, in its own words, but its sentence. */
export function evidenceOf({ evidence }: Finding): string {
  const entries = Object.entries((evidence ?? {}) as Record<string, unknown>).filter(
    ([name]) => name !== 'sentence',
  );
  return entries.map(([name, value]) => `${name}: ${shown(value)}`).join(' · ');
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).join(', ') || 'none';
  if (value === null || value === undefined) return 'unknown';
  if (typeof value !== 'object') return String(value);
  const fields = Object.entries(value).map(([name, one]) => `${name} ${shown(one)}`);
  return fields.join(', ') || 'none';
}
