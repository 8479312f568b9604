import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { SearchField } from '@/components/search-field';
import type { LockHolder } from '@/gql/operations';
import { lockHolders } from './lock';
import classes from './lock-filters.module.css';

type Chosen = {
  group?: string | undefined;
  topic?: string | undefined;
  client?: string | undefined;
  holder?: LockHolder | undefined;
};

type LockFiltersProps = { chosen: Chosen; onChoose: (part: Chosen) => void };

/** Narrows the locks by whole names, and by whether their holders are still there. */
export function LockFilters({ chosen, onChoose }: LockFiltersProps) {
  const { t } = useTranslation();
  return (
    <search className={classes.filters}>
      <SearchField
        label={t('locks.byGroup')}
        search={chosen.group}
        onSearch={(group) => onChoose({ group })}
      />
      <SearchField
        label={t('locks.byTopic')}
        search={chosen.topic}
        onSearch={(topic) => onChoose({ topic })}
      />
      <SearchField
        label={t('locks.byClient')}
        search={chosen.client}
        onSearch={(client) => onChoose({ client })}
      />
      <SegmentedControl
        aria-label={t('locks.holder')}
        value={chosen.holder ?? 'ALL'}
        onChange={(value) => onChoose({ holder: lockHolders.find((one) => one === value) })}
        data={[
          { value: 'ALL', label: t('locks.everyHolder') },
          ...lockHolders.map((value) => ({ value, label: t(`lockHolder.${value}`) })),
        ]}
      />
    </search>
  );
}
