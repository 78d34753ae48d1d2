// Package adlens holds the words of the domain that several rooms need: days,
// ad products, countries, and what can go wrong. It imports nothing of the
// project, and knows neither HTTP nor ClickHouse.
package adlens
