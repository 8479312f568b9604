import { useTranslation } from 'react-i18next';
import { FieldEntries } from './field-entries';
import { FieldList } from './field-list';
import classes from './field-value.module.css';
import { Folded } from './folded';
import { isEmpty, isFields, isList, isPlain, wordOfCode } from './values';

/** More fields than these, and longer texts, are folded. */
const fieldsShown = 24;
const lettersShown = 400;

type FieldValueProps = { name: string; value: unknown };

/** One value of a journal or of a plan's facts, whatever its kind of operation keeps there. */
export function FieldValue({ name, value }: FieldValueProps) {
  const { t } = useTranslation();
  if (value === undefined) return <span className={classes.absent}>{t('value.absent')}</span>;
  if (value === null) return <span className={classes.absent}>{t('value.none')}</span>;
  if (typeof value === 'boolean') return t(value ? 'word.yes' : 'word.no');
  if (isEmpty(value)) return <span className={classes.absent}>{t('value.none')}</span>;
  if (isFields(value)) {
    const count = Object.keys(value).length;
    if (count <= fieldsShown) return <FieldList fields={value} />;
    return (
      <Folded label={t('value.fields', { count })}>{() => <FieldList fields={value} />}</Folded>
    );
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
  const text = String(value);
  const whole = <span className={classes.value}>{text}</span>;
  if (text.length <= lettersShown) return whole;
  return <Folded label={`${text.slice(0, lettersShown / 4)}…`}>{() => whole}</Folded>;
}
