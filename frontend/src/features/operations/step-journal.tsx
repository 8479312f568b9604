import { useTranslation } from 'react-i18next';
import { wordsOf } from '@/lib/words';
import classes from './field-table.module.css';
import { FieldValue } from './field-value';
import { Folded } from './folded';
import type { Step } from './operation';
import { isFields, journalRows } from './values';

type StepJournalProps = { step: Step; isFolded: boolean };

/** What a step found and what it left behind, field by field; what it changed stands first. */
export function StepJournal({ step, isFolded }: StepJournalProps) {
  const { t } = useTranslation();
  if (step.beganAt === null) return null;
  const isDone = step.state === 'DONE';
  if (!isFields(step.before) && !isFields(step.after)) return null;
  const rows = journalRows(step.before, step.after);
  if (rows.length === 0) return null;
  const missingAfter = isDone ? t('journal.nothing') : t('journal.notYet');
  const table = (
    <table className={classes.table}>
      <caption className="visually-hidden">{t('journal.title', { step: step.title })}</caption>
      <thead>
        <tr>
          <th scope="col">{t('journal.what')}</th>
          <th scope="col">{t('journal.before')}</th>
          <th scope="col">{t('journal.after')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name} data-changed={row.isChanged}>
            <td>{wordsOf(row.name)}</td>
            <td>
              {isFields(step.before) ? (
                <FieldValue name={row.name} value={row.before} />
              ) : (
                t('journal.nothing')
              )}
            </td>
            <td>
              {isFields(step.after) ? (
                <FieldValue name={row.name} value={row.after} />
              ) : (
                missingAfter
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return isFolded ? <Folded label={t('journal.open')}>{() => table}</Folded> : table;
}
