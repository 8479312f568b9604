import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FieldList } from './field-list';
import type { Fields } from './values';

/** Many fields of one value, drawn once somebody wants to read them. */
export function FoldedFields({ fields }: { fields: Fields }) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{t('value.fields', { count: Object.keys(fields).length })}</summary>
      {isOpen ? <FieldList fields={fields} /> : null}
    </details>
  );
}
