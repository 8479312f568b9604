import { useTranslation } from 'react-i18next';
import { FieldEntries } from './field-entries';
import { FieldList } from './field-list';
import classes from './field-value.module.css';
import { FoldedFields } from './folded-fields';
import { isEmpty, isFields, isList, isPlain, wordOfCode } from './values';

/** More fields than these are found under their number. */
const foldedFrom = 24;

type FieldValueProps = { name: string; value: unknown };

/** One value of a journal or of a plan's facts, whatever its kind of operation keeps there. */
export function FieldValue({ name, value }: FieldValueProps) {
  const { t } = useTranslation();
  if (value === undefined) return <span className={classes.absent}>{t('value.absent')}</span>;
  if (value === null) return <span className={classes.absent}>{t('value.none')}</span>;
  if (typeof value === 'boolean') return t(value ? 'word.yes' : 'word.no');
  if (isEmpty(value)) return <span className={classes.absent}>{t('value.none')}</span>;
  if (isFields(value)) {
    const isLong = Object.keys(value).length > foldedFrom;
    return isLong ? <FoldedFields fields={value} /> : <FieldList fields={value} />;
  }
  if (isList(value)) return <FieldEntries name={name} list={value} />;
  if (Array.isArray(value)) {
    if (isPlain(value)) return <span className={classes.value}>{value.join(', ')}</span>;
    return (
      <ul className={classes.list}>
        {value.map((one) => (
          <li key={JSON.stringify(one)}>
            <FieldValue name={name} value={one} />
          </li>
        ))}
      </ul>
    );
  }
  const word = wordOfCode(name, value);
  if (word) return t(word);
  return <span className={classes.value}>{String(value)}</span>;
}
