import { Skeleton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './skeleton-lines.module.css';

/** Holds the place of what is being loaded, so that nothing jumps when it comes. */
export function SkeletonLines({ count = 6 }: { count?: number }) {
  const { t } = useTranslation();
  const lines = Array.from({ length: count }, (_, index) => index);
  return (
    <div className={classes.lines} role="status" aria-label={t('state.loading')}>
      {lines.map((line) => (
        <Skeleton key={line} height={14} width={`${92 - (line % 3) * 9}%`} radius={3} />
      ))}
    </div>
  );
}
