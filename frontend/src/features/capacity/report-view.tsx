import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Notice } from '@/components/notice';
import { Observed } from '@/components/observed';
import { Panel } from '@/components/panel';
import { SkeletonLines } from '@/components/skeleton-lines';
import type { CapacityReportQuery } from '@/gql/operations';
import { CoverageNotice } from './coverage-notice';
import { DiskTable } from './disk-table';
import { isUnfinished } from './report-status';
import { TopicDaysTable } from './topic-days-table';

type ReportViewProps = {
  report: NonNullable<CapacityReportQuery['capacityReport']>;
  diskSort: string | undefined;
  topicSort: string | undefined;
  onDiskSort: (sort: string | undefined) => void;
  onTopicSort: (sort: string | undefined) => void;
};

/** One report: what it stands on, which disk fills first, what fills it. */
export function ReportView(props: ReportViewProps) {
  const { report, diskSort, topicSort, onDiskSort, onTopicSort } = props;
  const { t } = useTranslation();
  if (report.status === 'failed') {
    return (
      <Notice tone="bad" title={t('capacity.failed')}>
        {report.error ?? t('capacity.failedUnsaid')}
      </Notice>
    );
  }
  if (isUnfinished(report.status)) {
    return (
      <Panel title={t('capacity.disks')} aside={t(`reportStatus.${report.status}`)}>
        <SkeletonLines count={4} />
      </Panel>
    );
  }
  const computed = report.finishedAt ? (
    <Observed atMs={Date.parse(report.finishedAt)} staleMs={Number.POSITIVE_INFINITY} />
  ) : null;
  return (
    <>
      <CoverageNotice report={report} />
      <Panel title={t('capacity.disks')} aside={computed} flush>
        {report.disks.length > 0 ? (
          <DiskTable rows={report.disks} sort={diskSort ?? 'days'} onSort={onDiskSort} />
        ) : (
          <EmptyState title={t('capacity.noDisks')}>{t('capacity.noDisksNext')}</EmptyState>
        )}
      </Panel>
      <Panel title={t('capacity.topicDays')} aside={computed} flush>
        {report.topicDays.length > 0 ? (
          <TopicDaysTable rows={report.topicDays} sort={topicSort} onSort={onTopicSort} />
        ) : (
          <EmptyState title={t('capacity.noTopics')} />
        )}
      </Panel>
    </>
  );
}
