import { FieldList } from './field-list';
import classes from './field-list.module.css';
import { FieldTable } from './field-table';
import { type Fields, isFlat } from './values';

type FieldEntriesProps = { name: string; list: Fields[] };

/** Things of one sort: a table where that can be, else one beneath the other. */
export function FieldEntries({ name, list }: FieldEntriesProps) {
  if (isFlat(list)) return <FieldTable name={name} rows={list} />;
  return (
    <ul className={classes.entries}>
      {list.map((fields) => (
        <li key={JSON.stringify(fields)}>
          <FieldList fields={fields} />
        </li>
      ))}
    </ul>
  );
}
