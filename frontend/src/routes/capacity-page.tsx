import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Page } from '@/components/page';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { capacityReport, capacityReports } from '@/features/capacity/capacity-queries';
import { ReportList } from '@/features/capacity/report-list';
import { isUnfinished, reportToShow } from '@/features/capacity/report-status';
import { ReportView } from '@/features/capacity/report-view';
import { RequestReportButton } from '@/features/capacity/request-report-button';
import { withinPage } from './within-page';

/** When the disks are full: the report in force, and the ones before it. */
export function CapacityPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/capacity' });
  const view = useSearch({ from: '/console/capacity' });
  const list = useQuery(capacityReports);
  const reports = list.data?.data.capacityReports.nodes ?? [];
  const shownId = view.report ?? reportToShow(reports)?.id;
  const report = useQuery({ ...capacityReport(shownId ?? ''), enabled: shownId !== undefined });
  const change = (part: Partial<typeof view>) =>
    void navigate({ search: (now) => ({ ...now, ...part }), ...withinPage });
  return (
    <Page
      title={t('capacity.title')}
      summary={t('capacity.summary')}
      actions={
        <RequestReportButton
          running={reports.some((each) => isUnfinished(each.status))}
          onRequested={(id) => void navigate({ search: (now) => ({ ...now, report: id }) })}
        />
      }
    >
      {shownId === undefined ? null : (
        <QueryView query={report} needs="capacityReport">
          {({ capacityReport: shown }) =>
            shown === null ? (
              <EmptyState title={t('capacity.missing')} />
            ) : (
              <ReportView
                report={shown}
                diskSort={view.disks}
                topicSort={view.topics}
                onDiskSort={(disks) => change({ disks })}
                onTopicSort={(topics) => change({ topics })}
              />
            )
          }
        </QueryView>
      )}
      <Panel title={t('reports.title')} flush>
        <QueryView query={list}>
          {() =>
            reports.length > 0 ? (
              <ReportList reports={reports} shownId={shownId} />
            ) : (
              <EmptyState title={t('capacity.none')}>{t('capacity.noneNext')}</EmptyState>
            )
          }
        </QueryView>
      </Panel>
    </Page>
  );
}
