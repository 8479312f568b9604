import { capitalised, wordsOf } from '@/lib/words';
import classes from './field-table.module.css';
import { FieldValue } from './field-value';
import { columnNames, type Fields } from './values';

type FieldTableProps = { name: string; rows: Fields[] };

/** Things of one sort with their fields as columns. */
export function FieldTable({ name: title, rows }: FieldTableProps) {
  const names = columnNames(rows);
  return (
    <table className={classes.table}>
      <caption className="visually-hidden">{wordsOf(title)}</caption>
      <thead>
        <tr>
          {names.map((name) => (
            <th key={name} scope="col">
              {capitalised(wordsOf(name))}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={JSON.stringify(row)}>
            {names.map((name) => (
              <td key={name}>
                <FieldValue name={name} value={row[name]} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
