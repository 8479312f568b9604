import type { StateTone } from '@/components/state-mark';
import type { CapacityReportSummaryFragment } from '@/gql/operations';

const tones: Record<string, StateTone> = {
  planned: 'busy',
  running: 'busy',
  done: 'good',
  failed: 'bad',
};

export function toneOf(status: string): StateTone {
  return tones[status] ?? 'unknown';
}

export function isUnfinished(status: string): boolean {
  return status === 'planned' || status === 'running';
}

const dayMs = 86_400_000;

/** The history below which a forecast is only a straight line through noise. */
export const coverageDaysMin = 14;

/** The days of history a report stands on, or null when it does not say. */
export function coverageDays(report: CapacityReportSummaryFragment): number | null {
  if (report.coverageFrom === null || report.coverageTo === null) return null;
  return (Date.parse(report.coverageTo) - Date.parse(report.coverageFrom)) / dayMs;
}

/** The report to open when the address names none: the newest finished one, else the newest. */
export function reportToShow(
  reports: CapacityReportSummaryFragment[],
): CapacityReportSummaryFragment | undefined {
  return reports.find((report) => report.status === 'done') ?? reports[0];
}
