import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Notice } from '@/components/notice';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { BrokerTable } from '@/features/topology/broker-table';
import { isOnline } from '@/features/topology/broker-view';
import { useTopology } from './use-topology';

type BrokersPanelProps = {
  clusterName: string;
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** All brokers of a cluster in one table, and which of them are silent. */
export function BrokersPanel({ clusterName, sort, onSort }: BrokersPanelProps) {
  const { t } = useTranslation();
  const { query, groups } = useTopology(clusterName);
  const brokers = groups.flatMap((group) => group.brokers);
  const silent = brokers.filter((broker) => isOnline(broker) && broker.sample === null);
  const names = silent.slice(0, 5).map((broker) => broker.name);
  return (
    <>
      {silent.length > 0 ? (
        <Notice tone="warn" title={t('brokers.silent', { count: silent.length })}>
          {t('brokers.silentNext', { names: names.join(', ') })}
        </Notice>
      ) : null}
      <Panel title={t('brokers.title')} flush>
        <QueryView query={query} needs="cluster">
          {({ cluster }) =>
            brokers.length > 0 ? (
              <>
                {cluster?.brokerGroups.pageInfo.hasNextPage ? (
                  <Notice
                    tone="warn"
                    title={t('topology.more', {
                      shown: groups.length,
                      total: cluster.brokerGroups.totalCount,
                    })}
                  />
                ) : null}
                <BrokerTable brokers={brokers} sort={sort} onSort={onSort} />
              </>
            ) : (
              <EmptyState title={t('brokers.none')}>{t('brokers.noneNext')}</EmptyState>
            )
          }
        </QueryView>
      </Panel>
    </>
  );
}
