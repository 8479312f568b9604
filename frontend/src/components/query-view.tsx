import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { formatClock } from '@/lib/format';
import { type Answer, findUnread } from '@/lib/graphql';
import { ErrorNotice } from './error-notice';
import { Notice } from './notice';
import classes from './query-view.module.css';
import { SkeletonLines } from './skeleton-lines';

type QueryViewProps<T> = {
  query: UseQueryResult<Answer<T>>;
  skeleton?: ReactNode;
  /** The field without which there is nothing to draw. */
  needs?: keyof T & string;
  children: (data: T, observedAtMs: number) => ReactNode;
};

/** Loading, error, partial, outdated and data of one query, drawn alike on every page. */
export function QueryView<T>({ query, skeleton, needs, children }: QueryViewProps<T>) {
  const { t } = useTranslation();
  const retry = () => void query.refetch();
  const answer = query.data;
  if (answer === undefined) {
    if (query.error) return <ErrorNotice error={query.error} onRetry={retry} />;
    return skeleton ?? <SkeletonLines />;
  }
  const unread = needs ? findUnread(answer, needs) : undefined;
  if (unread) return <ErrorNotice error={unread} onRetry={retry} />;
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
      <div className={classes.answer} aria-busy={query.isPlaceholderData}>
        {children(answer.data, query.dataUpdatedAt)}
      </div>
    </>
  );
}
