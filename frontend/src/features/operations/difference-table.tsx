import { IconArrowRight } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import classes from './difference-table.module.css';
import type { Operation } from './operation';

/** What changes, before and after, as the plan says it. */
export function DifferenceTable({ changes }: { changes: Operation['plan']['changes'] }) {
  const { t } = useTranslation();
  if (changes.length === 0) return <p className={classes.none}>{t('plan.noChanges')}</p>;
  return (
    <table className={classes.table}>
      <caption className="visually-hidden">{t('plan.changes')}</caption>
      <thead className="visually-hidden">
        <tr>
          <th scope="col">{t('journal.what')}</th>
          <th scope="col">{t('journal.before')}</th>
          <th aria-hidden />
          <th scope="col">{t('journal.after')}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ what, before, after }) => (
          <tr key={`${what} ${before} ${after}`}>
            <th scope="row">{what}</th>
            <td className={classes.before}>{before ?? t('plan.notThere')}</td>
            <td className={classes.arrow}>
              <IconArrowRight size={13} aria-hidden />
            </td>
            <td className={classes.after}>{after ?? t('plan.gone')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
