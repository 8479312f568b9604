import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './topic-pager.module.css';

type TopicPagerProps = {
  shown: number;
  total: number;
  onFirst: (() => void) | undefined;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
};

/** Moves through the topics page by page, each page found by the last name of the one before. */
export function TopicPager({ shown, total, onFirst, onPrevious, onNext }: TopicPagerProps) {
  const { t } = useTranslation();
  const steps = [
    ['first', onFirst],
    ['previous', onPrevious],
    ['next', onNext],
  ] as const;
  return (
    <nav className={classes.pager} aria-label={t('pager.label')}>
      <span>{t('pager.shown', { shown, total })}</span>
      {steps.map(([word, go]) => (
        <Button key={word} variant="default" disabled={!go} onClick={go}>
          {t(`pager.${word}`)}
        </Button>
      ))}
    </nav>
  );
}
