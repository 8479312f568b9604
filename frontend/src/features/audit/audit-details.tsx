import { useTranslation } from 'react-i18next';
import type { AuditEntryFieldsFragment } from '@/gql/operations';
import classes from './audit-details.module.css';
import { headlineOf } from './entry-words';

/** What an entry holds besides: a sentence, and all of it when it is opened. */
export function AuditDetails({ entry }: { entry: AuditEntryFieldsFragment }) {
  const { t } = useTranslation();
  const headline = headlineOf(entry.details);
  return (
    <details className={classes.details}>
      <summary>
        {headline ? t(`audit.headline.${headline.name}`, { text: headline.text }) : t('audit.open')}
      </summary>
      <pre>{JSON.stringify(entry.details, null, 2)}</pre>
    </details>
  );
}
