import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Observed } from '@/components/observed';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import { wordOf } from '@/features/containers/container-broker-word';
import { ContainerBrokers } from '@/features/containers/container-brokers';
import {
  type Container,
  containersIntervalMs,
  containersOf,
} from '@/features/containers/container-queries';
import { removeBroker } from '@/features/orders/container-orders';
import { OrderModal } from './order-modal';
import { usePageTrail } from './use-page-trail';
import { withinPage } from './within-page';

/** The form for the broker that the address of the page names; none if no container has it. */
function removalIn(nodes: readonly Container[], at: string | undefined, word: string | undefined) {
  const broker = nodes
    .find(({ address }) => address === at)
    ?.brokers.find((one) => wordOf(one) !== null && wordOf(one) === word);
  if (broker === undefined || at === undefined || word === undefined) return undefined;
  const { clusterName, brokerGroupName, ownId, path } = broker;
  const meant = {
    clusterName,
    brokerGroupName,
    brokerId: ownId,
    containerAddress: at,
    configPath: path,
  };
  return removeBroker(meant, word);
}

/** The page of containers that the address names, each with its brokers. */
export function ContainersPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/containers' });
  const { after, order, broker, at } = useSearch({ from: '/console/containers' });
  const query = useQuery(containersOf(clusterName, after));
  const trail = usePageTrail();
  const remove = useCallback(
    (container: Container, word: string) =>
      void navigate({
        search: (now) => ({ ...now, order: 'remove', broker: word, at: container.address }),
        ...withinPage,
      }),
    [navigate],
  );
  const close = () =>
    void navigate({
      search: (now) => ({ ...now, order: undefined, broker: undefined, at: undefined }),
      ...withinPage,
    });
  return (
    <QueryView query={query}>
      {({ containers: { nodes, totalCount, pageInfo, observedAt, unknown } }) => {
        const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
        return (
          <>
            <Panel
              title={t('containers.list')}
              aside={<Observed atMs={Date.parse(observedAt)} staleMs={3 * containersIntervalMs} />}
              flush
            >
              <UnknownBrokers unknown={unknown} />
              {totalCount === 0 ? (
                <EmptyState title={t('containers.none')}>{t('containers.noneNext')}</EmptyState>
              ) : (
                <Pager
                  label={t('containers.pages')}
                  shown={nodes.length}
                  total={totalCount}
                  onFirst={after ? trail.toFirst : undefined}
                  onPrevious={trail.toPrevious}
                  onNext={next ? () => trail.toNext(next) : undefined}
                />
              )}
            </Panel>
            {nodes.map((one) => (
              <ContainerBrokers key={one.address} container={one} onRemove={remove} />
            ))}
            <OrderModal
              kind={order === 'remove' ? removalIn(nodes, at, broker) : undefined}
              onClose={close}
            />
          </>
        );
      }}
    </QueryView>
  );
}
