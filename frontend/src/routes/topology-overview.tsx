import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Notice } from '@/components/notice';
import { Observed } from '@/components/observed';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { NameServerTable } from '@/features/topology/name-server-table';
import { TopologyPicture } from '@/features/topology/topology-picture';
import { useTopology } from './use-topology';

type TopologyOverviewProps = { clusterName: string; children: ReactNode };

/** The picture of a cluster and its name servers, and what follows when there are any. */
export function TopologyOverview({ clusterName, children }: TopologyOverviewProps) {
  const { t } = useTranslation();
  const { query, groups } = useTopology(clusterName);
  return (
    <QueryView query={query} needs="cluster">
      {({ nameServers, cluster }, observedAtMs) => {
        if (cluster === null) {
          return <EmptyState title={t('cluster.unknownTitle', { name: clusterName })} />;
        }
        const { totalCount, pageInfo } = cluster.brokerGroups;
        return (
          <>
            {pageInfo.hasNextPage ? (
              <Notice
                tone="warn"
                title={t('topology.more', { shown: groups.length, total: totalCount })}
              />
            ) : null}
            <Panel
              title={t('topology.picture')}
              aside={<Observed atMs={observedAtMs} staleMs={45_000} followed />}
              flush
            >
              {groups.length > 0 ? (
                <TopologyPicture nameServers={nameServers} groups={groups} />
              ) : (
                <EmptyState title={t('brokers.none')}>{t('brokers.noneNext')}</EmptyState>
              )}
            </Panel>
            <Panel
              title={t('nameServers.title')}
              aside={<Observed atMs={observedAtMs} staleMs={45_000} followed />}
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
