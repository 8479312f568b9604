import { useTranslation } from 'react-i18next';
import { useRefusal } from './permissions';
import classes from './read-only-mark.module.css';

/** Says in the header that the user may only look, and why. */
export function ReadOnlyMark() {
  const { t } = useTranslation();
  const why = useRefusal('change');
  if (why === undefined) return null;
  return (
    <span className={classes.mark} title={t('refused.why', { why })}>
      {t('refused.readOnly')}
    </span>
  );
}
