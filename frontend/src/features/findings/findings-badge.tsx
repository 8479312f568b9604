import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { sumOf } from './finding';
import { openFindings } from './finding-queries';
import classes from './findings-badge.module.css';

/** How many findings are open, beside the way to them; nothing while none is. */
export function FindingsBadge({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { data } = useQuery(openFindings(clusterName));
  if (data === undefined) return null;
  const { count, worst } = sumOf(data.data);
  if (count === 0) return null;
  return (
    <>
      <span className={classes.badge} data-severity={worst} aria-hidden>
        {count}
      </span>
      <span className="visually-hidden">{t(`openFindings.${worst ?? 'SOME'}`, { count })}</span>
    </>
  );
}
