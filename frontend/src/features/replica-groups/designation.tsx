import { Select } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './designation.module.css';

type DesignationProps = {
  ids: string[];
  brokerId: string | undefined;
  onPick: (brokerId: string | undefined) => void;
  /** What would come of the choice. */
  children: ReactNode;
  /** What has it come about. */
  order: ReactNode;
};

/** Lets one ask what would happen if a certain replica were to be master, and order it. */
export function Designation({ ids, brokerId, onPick, children, order }: DesignationProps) {
  const { t } = useTranslation();
  return (
    <div className={classes.bar}>
      <span className={classes.label} aria-hidden>
        {t('designation.label')}
      </span>
      <Select
        aria-label={t('designation.label')}
        className={classes.choice}
        data={ids.map((id) => ({ value: id, label: t('designation.replica', { id }) }))}
        value={brokerId ?? null}
        placeholder={t('designation.pick')}
        onChange={(id) => onPick(id ?? undefined)}
        clearable
        data-act
      />
      {order}
      <div className={classes.outcome} role="status">
        {children}
      </div>
    </div>
  );
}
