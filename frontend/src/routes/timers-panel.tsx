import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Observed } from '@/components/observed';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import { GroupTimers } from '@/features/timers/group-timers';
import { timersIntervalMs, timersOf } from '@/features/timers/timer-queries';
import { TimerTable } from '@/features/timers/timer-table';
import { usePageTrail } from './use-page-trail';

/** The masters of the page that the address names, and below when the messages of each are due. */
export function TimersPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { topic, by = 'hours', after } = useSearch({ from: '/console/timers' });
  const query = useQuery(timersOf({ clusterName, topic }, after));
  const trail = usePageTrail();
  const emptyWord = topic === undefined ? 'none' : 'noMatch';
  return (
    <QueryView query={query}>
      {({ timers: { nodes, totalCount, pageInfo, observedAt, unknown } }) => {
        const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
        const waiting = nodes.filter(({ waitingCount }) => waitingCount !== '0');
        return (
          <>
            <Panel
              title={t('timers.list')}
              aside={<Observed atMs={Date.parse(observedAt)} staleMs={3 * timersIntervalMs} />}
              flush
            >
              <UnknownBrokers unknown={unknown} />
              {totalCount === 0 ? (
                <EmptyState title={t(`timers.${emptyWord}`)}>
                  {t(`timers.${emptyWord}Next`)}
                </EmptyState>
              ) : (
                <>
                  <TimerTable timers={nodes} />
                  <Pager
                    label={t('timers.pages')}
                    shown={nodes.length}
                    total={totalCount}
                    onFirst={after ? trail.toFirst : undefined}
                    onPrevious={trail.toPrevious}
                    onNext={next ? () => trail.toNext(next) : undefined}
                  />
                </>
              )}
            </Panel>
            {waiting.map((one) => (
              <GroupTimers key={one.brokerAddress} timers={one} by={by} />
            ))}
          </>
        );
      }}
    </QueryView>
  );
}
