import { SegmentedControl, useMantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';

const schemes = [
  { value: 'light', Icon: IconSun },
  { value: 'dark', Icon: IconMoon },
  { value: 'auto', Icon: IconDeviceDesktop },
] as const;

/** Light, dark, or as the system has it. */
export function ColorSchemeSwitch() {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      aria-label={t('scheme.label')}
      value={colorScheme}
      onChange={setColorScheme}
      data={schemes.map(({ value, Icon }) => ({
        value,
        label: (
          <span title={t(`scheme.${value}`)}>
            <Icon size={14} stroke={1.8} style={{ display: 'block' }} aria-hidden />
            <span className="visually-hidden">{t(`scheme.${value}`)}</span>
          </span>
        ),
      }))}
    />
  );
}
