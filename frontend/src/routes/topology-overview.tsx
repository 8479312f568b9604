import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Notice } from '@/components/notice';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { NameServerTable } from '@/features/topology/name-server-table';
import { TopologyPicture } from '@/features/topology/topology-picture';
import { useTopology } from './use-topology';

type TopologyOverviewProps = { clusterName: string; children: ReactNode };

/** In a picture of more broker groups they can't be distinguished; the table below it has all. */
const drawnCountMax = 100;

/** The picture of a cluster and its name servers, and what follows when there are any. */
export function TopologyOverview({ clusterName, children }: TopologyOverviewProps) {
  const { t } = useTranslation();
  const { query, groups } = useTopology(clusterName);
  const drawn = useMemo(() => groups.slice(0, drawnCountMax), [groups]);
  return (
    <QueryView query={query} needs="cluster">
      {({ nameServers, cluster }, observedAtMs) => {
        if (cluster === null) {
          return <EmptyState title={t('cluster.unknownTitle', { name: clusterName })} />;
        }
        const { totalCount } = cluster.brokerGroups;
        return (
          <>
            {drawn.length < totalCount ? (
              <Notice
                tone="warn"
                title={t('topology.moreDrawn', { shown: drawn.length, total: totalCount })}
              />
            ) : null}
            <Panel
              title={t('topology.picture')}
              aside={<Answered atMs={observedAtMs} staleMs={45_000} followed />}
              flush
            >
              {drawn.length > 0 ? (
                <TopologyPicture nameServers={nameServers} groups={drawn} />
              ) : (
                <EmptyState title={t('brokers.none')}>{t('brokers.noneNext')}</EmptyState>
              )}
            </Panel>
            <Panel
              title={t('nameServers.title')}
              aside={<Answered atMs={observedAtMs} staleMs={45_000} followed />}
              flush
            >
              {nameServers.length > 0 ? (
                <NameServerTable nameServers={nameServers} />
              ) : (
                <EmptyState title={t('nameServers.none')} />
              )}
            </Panel>
            {children}
          </>
        );
      }}
    </QueryView>
  );
}
