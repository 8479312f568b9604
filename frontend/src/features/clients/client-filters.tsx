import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { SearchField } from '@/components/search-field';
import type { ClientRole } from '@/gql/operations';
import { clientRoles } from './client';
import classes from './client-filters.module.css';

type Chosen = {
  search?: string | undefined;
  group?: string | undefined;
  role?: ClientRole | undefined;
};

type ClientFiltersProps = { chosen: Chosen; onChoose: (part: Chosen) => void };

/** Narrows the clients by a part of their id, by a group's whole name and by what they do. */
export function ClientFilters({ chosen, onChoose }: ClientFiltersProps) {
  const { t } = useTranslation();
  return (
    <search className={classes.filters}>
      <SearchField
        label={t('clients.search')}
        search={chosen.search}
        onSearch={(search) => onChoose({ search })}
      />
      <SearchField
        label={t('clients.byGroup')}
        search={chosen.group}
        onSearch={(group) => onChoose({ group })}
      />
      <SegmentedControl
        aria-label={t('clients.roles')}
        value={chosen.role ?? 'ALL'}
        onChange={(value) => onChoose({ role: clientRoles.find((one) => one === value) })}
        data={[
          { value: 'ALL', label: t('clients.everyRole') },
          ...clientRoles.map((value) => ({ value, label: t(`clientRole.${value}`) })),
        ]}
      />
    </search>
  );
}
