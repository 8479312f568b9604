import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { formatClock } from '@/lib/format';
import type { Answer } from '@/lib/graphql';
import { ErrorNotice } from './error-notice';
import { Notice } from './notice';
import { SkeletonLines } from './skeleton-lines';

type QueryViewProps<T> = {
  query: UseQueryResult<Answer<T>>;
  skeleton?: ReactNode;
  children: (data: T, observedAtMs: number) => ReactNode;
};

/** Loading, error, partial and data of one query, drawn alike on every page. */
export function QueryView<T>({ query, skeleton, children }: QueryViewProps<T>) {
  const { t } = useTranslation();
  const answer = query.data;
  if (answer === undefined) {
    if (query.error) {
      return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
    }
    return skeleton ?? <SkeletonLines />;
  }
  return (
    <>
      {query.error ? (
        <Notice tone="warn" title={t('state.outdated', { time: formatClock(query.dataUpdatedAt) })}>
          {query.error.message}
        </Notice>
      ) : null}
      {answer.problems.length > 0 ? (
        <Notice tone="warn" title={t('state.partial', { count: answer.problems.length })}>
          {answer.problems.map((problem) => `${problem.path}: ${problem.message}`).join(' · ')}
        </Notice>
      ) : null}
      {children(answer.data, query.dataUpdatedAt)}
    </>
  );
}
