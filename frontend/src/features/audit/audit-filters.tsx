import { Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { SearchField } from '@/components/search-field';
import classes from './audit-filters.module.css';

type Chosen = {
  actor?: string | undefined;
  operation?: string | undefined;
  of?: string | undefined;
};

type AuditFiltersProps = {
  clusterNames: string[];
  chosen: Chosen;
  onChoose: (part: Chosen) => void;
};

const settleMs = 250;
const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Narrows the audit by who did it, in which cluster and by which operation. */
export function AuditFilters({ clusterNames, chosen, onChoose }: AuditFiltersProps) {
  const { t } = useTranslation();
  const settle = useDebouncedCallback((text: string) => {
    const operation = text.trim();
    if (operation === '' || idPattern.test(operation)) {
      onChoose({ operation: operation || undefined });
    }
  }, settleMs);
  return (
    <search className={classes.filters}>
      <SearchField
        label={t('audit.byActor')}
        search={chosen.actor}
        onSearch={(actor) => onChoose({ actor })}
      />
      <TextInput
        key={chosen.operation ?? ''}
        className={classes.operation}
        aria-label={t('audit.byOperation')}
        placeholder={t('audit.byOperation')}
        defaultValue={chosen.operation ?? ''}
        onChange={(event) => settle(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
      />
      <Select
        aria-label={t('audit.byCluster')}
        placeholder={t('audit.everyCluster')}
        data={clusterNames}
        value={chosen.of ?? null}
        onChange={(of) => onChoose({ of: of ?? undefined })}
        clearable
      />
    </search>
  );
}
