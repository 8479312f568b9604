import { wordsOf } from '@/lib/words';
import classes from './field-list.module.css';
import { FieldValue } from './field-value';
import { type Fields, isEmpty, isFields, isList } from './values';

/** The fields of one value by name; a list, or a value with fields in it, has the full width. */
export function FieldList({ fields }: { fields: Fields }) {
  return (
    <dl className={classes.fields}>
      {Object.entries(fields).map(([name, value]) => (
        <div key={name} data-wide={!isEmpty(value) && (isFields(value) || isList(value))}>
          <dt>{wordsOf(name)}</dt>
          <dd>
            <FieldValue name={name} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
