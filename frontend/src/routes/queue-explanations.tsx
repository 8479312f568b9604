import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { QueryView } from '@/components/query-view';
import { SkeletonLines } from '@/components/skeleton-lines';
import { ExplanationList } from '@/features/locks/explanation-list';
import { explanationsOf, type QueueChoice } from '@/features/locks/lock-queries';

type QueueExplanationsProps = { clusterName: string; queue: QueueChoice };

/** What came of asking; read aloud when it comes. */
export function QueueExplanations({ clusterName, queue }: QueueExplanationsProps) {
  const { t } = useTranslation();
  const query = useQuery(explanationsOf(clusterName, queue));
  return (
    <div role="status">
      <QueryView query={query} skeleton={<SkeletonLines count={2} />}>
        {({ queueExplanations }) =>
          queueExplanations.length === 0 ? (
            <EmptyState title={t('why.none')}>{t('why.noneNext')}</EmptyState>
          ) : (
            <ExplanationList explanations={queueExplanations} />
          )
        }
      </QueryView>
    </div>
  );
}
