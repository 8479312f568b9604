import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { SearchField } from '@/components/search-field';
import type { OperationState } from '@/gql/operations';
import { capitalised, wordsOf } from '@/lib/words';
import { operationStates } from './operation';
import classes from './operation-filters.module.css';

type Chosen = {
  state?: OperationState | undefined;
  kind?: string | undefined;
  search?: string | undefined;
};

type OperationFiltersProps = { kinds: string[]; chosen: Chosen; onChoose: (part: Chosen) => void };

/** Narrows the list by state, by kind and by what is changed. */
export function OperationFilters({ kinds, chosen, onChoose }: OperationFiltersProps) {
  const { t } = useTranslation();
  return (
    <search className={classes.filters}>
      <Select
        aria-label={t('operations.byState')}
        placeholder={t('operations.everyState')}
        data={operationStates.map((state) => ({
          value: state,
          label: capitalised(t(`operationState.${state}`)),
        }))}
        value={chosen.state ?? null}
        onChange={(state) => onChoose({ state: state ?? undefined })}
        clearable
      />
      <Select
        aria-label={t('operations.byKind')}
        placeholder={t('operations.everyKind')}
        data={kinds.map((kind) => ({ value: kind, label: capitalised(wordsOf(kind)) }))}
        value={chosen.kind ?? null}
        onChange={(kind) => onChoose({ kind: kind ?? undefined })}
        clearable
      />
      <SearchField
        label={t('operations.search')}
        search={chosen.search}
        onSearch={(search) => onChoose({ search })}
      />
    </search>
  );
}
