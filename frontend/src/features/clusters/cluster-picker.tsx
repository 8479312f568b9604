import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './cluster-picker.module.css';

type ClusterPickerProps = {
  names: string[];
  current: string | undefined;
  onPick: (name: string) => void;
};

/** The cluster's name, always in sight; a choice as soon as there is more than one. */
export function ClusterPicker({ names, current, onPick }: ClusterPickerProps) {
  const { t } = useTranslation();
  return (
    <div className={classes.picker}>
      <span className={classes.word}>{t('cluster.word')}</span>
      {names.length > 1 ? (
        <Select
          aria-label={t('cluster.pick')}
          data={names}
          value={current ?? null}
          onChange={(name) => name && onPick(name)}
          allowDeselect={false}
          searchable={names.length > 8}
        />
      ) : (
        <strong className={classes.name}>{current ?? t('cluster.none')}</strong>
      )}
    </div>
  );
}
