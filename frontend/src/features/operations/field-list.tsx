import { wordsOf } from '@/lib/words';
import classes from './field-list.module.css';
import { FieldTable } from './field-table';
import { FieldValue } from './field-value';
import { type Fields, isTable } from './values';

/** The fields of one value by name; a list of things among them is drawn as a table. */
export function FieldList({ fields }: { fields: Fields }) {
  return (
    <dl className={classes.fields}>
      {Object.entries(fields).map(([name, value]) => (
        <div key={name} data-wide={isTable(value)}>
          <dt>{wordsOf(name)}</dt>
          <dd>
            {isTable(value) ? (
              <FieldTable label={wordsOf(name)} rows={value} />
            ) : (
              <FieldValue value={value} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
