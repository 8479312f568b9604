import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';
import type { CapacityReportSummaryFragment } from '@/gql/operations';
import { formatDateTime, formatInt64, formatSpan } from '@/lib/format';
import { coverageDays, coverageDaysMin } from './report-status';

const dayMs = 86_400_000;

/** What history a report stands on; too little of it is said before any figure is shown. */
export function CoverageNotice({ report }: { report: CapacityReportSummaryFragment }) {
  const { t } = useTranslation();
  const days = coverageDays(report);
  if (days === null) {
    return (
      <Notice tone="warn" title={t('coverage.none')}>
        {t('coverage.noneNext')}
      </Notice>
    );
  }
  const covered = t('coverage.range', {
    span: formatSpan(days * dayMs),
    from: formatDateTime(Date.parse(report.coverageFrom ?? '')),
    to: formatDateTime(Date.parse(report.coverageTo ?? '')),
    samples: report.sampleCount === null ? t('figure.unknown') : formatInt64(report.sampleCount),
  });
  if (days < coverageDaysMin) {
    return (
      <Notice tone="warn" title={t('coverage.little')}>
        {covered} {t('coverage.littleNext', { days: coverageDaysMin })}
      </Notice>
    );
  }
  return (
    <Notice tone="info" title={t('coverage.enough')}>
      {covered}
    </Notice>
  );
}
